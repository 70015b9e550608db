import { NumberInput, type NumberInputProps } from '@mantine/core';
import { readInteger } from './integers';

interface Props extends Omit<NumberInputProps, 'onChange'> {
  onChange?: (value: number | '') => void;
}

/** A number that the service takes without decimals only. It says so of a number that has some. */
export function IntegerInput({ onChange, ...rest }: Props) {
  const change = (typed: string | number) => {
    const value = readInteger(typed);
    if (value !== undefined) onChange?.(value);
  };
  return <NumberInput {...rest} onChange={change} />;
}
