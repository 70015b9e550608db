import { expect, test } from 'vitest';
import { guessFormat } from './formats';

test('a format is guessed by how the file begins', () => {
  expect(guessFormat(' <View><Text/></View>')).toBe('label_studio');
  expect(guessFormat('{"type": "object", "properties": {}}')).toBe('json_schema');
  expect(guessFormat('{"format": "labeling-schema", "fields": []}')).toBe('portable');
  expect(guessFormat('{"data": {"fields": [{"key": "a"}]}}')).toBe('portable');
  expect(guessFormat('anything')).toBeUndefined();
});
