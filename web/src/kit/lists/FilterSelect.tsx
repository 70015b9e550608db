import { NativeSelect } from '@mantine/core';

interface Choice<Value extends string> {
  value: Value;
  label: string;
}

interface Props<Value extends string> {
  /** What is filtered by, for screen readers. */
  label: string;
  /** The choice of no filter. */
  any: string;
  value: string | undefined;
  choices: readonly Choice<Value>[];
  onChange: (value: Value | undefined) => void;
}

/** Filters a list by one of a few values. */
export function FilterSelect<Value extends string>(props: Props<Value>) {
  const { label, any, value, choices, onChange } = props;
  return (
    <NativeSelect
      size="xs"
      aria-label={label}
      value={value ?? ''}
      data={[{ value: '', label: any }, ...choices]}
      onChange={({ currentTarget }) =>
        onChange(choices.find((choice) => choice.value === currentTarget.value)?.value)
      }
    />
  );
}
