import { randomKey } from '@/kit/api/idempotency';
import type { DraftOption } from '../model';

/** Reads options from lines: `value`, or `value: label`, or both with a tab between them. */
export function parseOptions(text: string): DraftOption[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, value = line, label = ''] = /^(.*?)(?:\t|:\s+)(.*)$/.exec(line) ?? [];
      return { uid: randomKey(), value: value.trim(), label: label.trim() };
    });
}
