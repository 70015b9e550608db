import { type KeyboardEvent, useId, useRef } from 'react';
import { useEditor } from '../model/context';
import type { LocalTag, Slot } from '../model/tags';
import classes from './Fields.module.css';
import { useSlotFocus } from './useSlotFocus';

export interface Option {
  value: string | boolean;
  label: string;
}

interface Props {
  slot: Slot;
  tag: LocalTag | undefined;
  label: string;
  describedBy: string | undefined;
  required: boolean;
  options: readonly Option[];
}

/** Yes and no, or a few options: one click, or the digit of its position, chooses one. */
export function Choices({ slot, tag, label, describedBy, required, options }: Props) {
  const editor = useEditor();
  const name = useId();
  const group = useRef<HTMLDivElement>(null);
  const first = useRef<HTMLInputElement>(null);
  const checked = options.findIndex((option) => option.value === tag?.value);
  const { onFocus, onBlur } = useSlotFocus(slot, first);
  const choose = (option: Option | undefined) => {
    if (!option || editor.readOnly) return;
    if (option.value === tag?.value && tag.source === 'human') editor.clear(slot);
    else editor.setValue(slot, option.value);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const digit = Number(event.key);
    if (Number.isInteger(digit) && digit >= 1 && digit <= options.length)
      choose(options[digit - 1]);
    else if (event.key === 'Backspace' || event.key === 'Delete') editor.clear(slot);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={group}
      role="radiogroup"
      aria-label={label}
      aria-describedby={describedBy}
      aria-required={required}
      className={classes.choices}
      onKeyDown={onKeyDown}
      onFocus={onFocus}
      onBlur={onBlur}
      tabIndex={-1}
    >
      {options.map((option, at) => (
        <label key={String(option.value)} className={classes.choice}>
          <input
            type="radio"
            name={name}
            ref={at === Math.max(checked, 0) ? first : undefined}
            checked={at === checked}
            disabled={editor.readOnly}
            onChange={() => choose(option)}
            onClick={() => {
              // A second click on what is chosen takes it away.
              if (at === checked) choose(option);
            }}
          />
          <bdi>{option.label}</bdi>
        </label>
      ))}
    </div>
  );
}
