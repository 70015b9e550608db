import { describe, expect, test } from 'vitest';
import { buildIndex } from '../page/words';
import { Editor } from './editor';
import { type Column, type Field, fromServer, type LocalTag } from './tags';

const field = (key: string, type: Field['type'], changes: Partial<Field> = {}): Field => ({
  key,
  label: key,
  type,
  required: false,
  multiple: false,
  description: '',
  options: [],
  constraints: {},
  ai_assist: true,
  columns: [],
  ...changes,
});
const column = (key: string, type: Field['type']) => {
  const rest: Column & { columns?: unknown } = field(key, type);
  delete rest.columns;
  return rest;
};
const FIELDS = [
  field('number', 'text'),
  field('currency', 'currency'),
  field('total', 'money'),
  field('parties', 'text', { multiple: true }),
  field('lines', 'table', { columns: [column('name', 'text'), column('amount', 'money')] }),
  field('clause', 'span'),
];
const index = buildIndex(
  1,
  ['INV', '17', 'GBP', '512.40', 'Ann', 'Bob'].map((text, at) => ({
    text,
    box: [at / 10, 0, at / 10 + 0.08, 0.1],
    start: at * 10,
    end: at * 10 + text.length,
  })),
);
const words = (...positions: number[]) => positions.flatMap((at) => index.words[at] ?? []);
const open = (tags: readonly LocalTag[] = []) => new Editor(FIELDS, tags);
const slot = (name: string, at = 0, row: number | null = null) => ({ field: name, row, index: at });
const valuesOf = (editor: Editor) =>
  editor.state.tags.map((tag) => [tag.field, tag.row, tag.value]);

describe('taking words', () => {
  test('fills the active input and goes to the next empty one', () => {
    const editor = open();
    editor.focus(slot('number'));
    editor.take(words(0, 1), false);
    editor.take(words(2), false);
    editor.take(words(3), false);
    expect(valuesOf(editor)).toEqual([
      ['number', null, 'INV 17'],
      ['currency', null, 'GBP'],
      ['total', null, '512.40 GBP'],
    ]);
    expect(editor.state.active).toEqual(slot('parties'));
  });

  test('stays in the field when the user wants that', () => {
    const editor = open();
    editor.setAdvances(false);
    editor.focus(slot('number'));
    editor.take(words(0), false);
    editor.take(words(1), false);
    expect(valuesOf(editor)).toEqual([['number', null, '17']]);
  });

  test('adds words to those taken last, in reading order', () => {
    const editor = open();
    editor.focus(slot('number'));
    editor.take(words(1), false);
    editor.take(words(0), true);
    expect(valuesOf(editor)).toEqual([['number', null, 'INV 17']]);
  });

  test.each([
    [
      'below a new row',
      (editor: Editor) => editor.insertRow('lines', 0),
      ['lines.name', 1, 'Ann Bob'],
    ],
    ['when it is gone', (editor: Editor) => editor.removeRow('lines', 0), ['number', null, 'Bob']],
    [
      'after a save',
      (editor: Editor) => editor.replace([...editor.state.tags]),
      ['lines.name', 0, 'Ann Bob'],
    ],
    ['read again without it', (editor: Editor) => editor.replace([]), ['number', null, 'Bob']],
  ] as const)('adds words to the value that has them, %s', (_, change, expected) => {
    const editor = open();
    editor.focus(slot('lines.name', 0, 0));
    editor.take(words(4), false);
    change(editor);
    editor.focus(slot('number'));
    editor.take(words(5), true);
    expect(valuesOf(editor)).toEqual([expected]);
  });

  test('a field with several values takes one after another', () => {
    const editor = open();
    editor.focus(slot('parties'));
    editor.take(words(4), false);
    editor.take(words(5), false);
    expect(valuesOf(editor)).toEqual([
      ['parties', null, 'Ann'],
      ['parties', null, 'Bob'],
    ]);
  });

  test('a table is filled row by row', () => {
    const editor = open();
    editor.focus(slot('lines.name', 0, 0));
    for (const at of [4, 3, 5]) editor.take(words(at), false);
    expect(valuesOf(editor).map(([name, row]) => [name, row])).toEqual([
      ['lines.name', 0],
      ['lines.amount', 0],
      ['lines.name', 1],
    ]);
  });

  test('a span is its place; the service reads the text', () => {
    const editor = open();
    editor.focus(slot('clause'));
    editor.take(words(0, 1), false);
    const [tag] = editor.state.tags;
    expect([tag?.value, tag?.evidence[0]?.start, tag?.evidence[0]?.end]).toEqual([null, 0, 12]);
  });
});

describe('predictions', () => {
  const predicted = () =>
    fromServer([
      {
        field: 'number',
        value: '1',
        row: null,
        confidence: 0.9,
        source: 'model',
        evidence: [],
      },
      {
        field: 'total',
        value: '2',
        row: null,
        confidence: 0.4,
        source: 'model',
        evidence: [],
      },
    ]);

  test('are confirmed one by one', () => {
    const editor = open(predicted());
    editor.focus(slot('number'));
    editor.confirmAndAdvance();
    expect(editor.state.tags.map((tag) => [tag.source, tag.confidence])).toEqual([
      ['human', null],
      ['model', 0.4],
    ]);
    expect(editor.state.active).toEqual(slot('currency'));
  });

  test('become the value of a person when they are corrected', () => {
    const editor = open(predicted());
    editor.type(slot('total'), '3');
    expect(editor.state.tags[1]).toMatchObject({
      value: '3',
      source: 'human',
      confidence: null,
    });
  });

  test('are confirmed all at once, and undone at once', () => {
    const editor = open(predicted());
    editor.confirmAll();
    expect(editor.state.tags.every((tag) => tag.source === 'human')).toBe(true);
    editor.undo();
    expect(editor.state.tags.every((tag) => tag.source === 'model')).toBe(true);
  });
});

describe('editing', () => {
  test('typing is one step of undo', () => {
    const editor = open();
    for (const text of ['a', 'ab', 'abc']) editor.type(slot('number'), text);
    editor.undo();
    expect(editor.state.tags).toEqual([]);
    editor.redo();
    expect(valuesOf(editor)).toEqual([['number', null, 'abc']]);
  });

  test('a value that was emptied is gone when the input is left', () => {
    const editor = open();
    editor.type(slot('number'), 'a');
    editor.type(slot('number'), '');
    editor.settle(slot('number'));
    expect(editor.state.tags).toEqual([]);
  });

  test('a removed row closes the gap, an inserted one makes room', () => {
    const editor = open();
    for (const row of [0, 1, 2]) editor.type(slot('lines.name', 0, row), String(row));
    editor.removeRow('lines', 1);
    expect(valuesOf(editor)).toEqual([
      ['lines.name', 0, '0'],
      ['lines.name', 1, '2'],
    ]);
    editor.insertRow('lines', 0);
    expect(valuesOf(editor).map(([, row]) => row)).toEqual([1, 2]);
  });

  test('an unchanged field keeps its list, so that only the changed one is rendered', () => {
    const editor = open();
    editor.type(slot('number'), 'a');
    const before = editor.state.byField.get('number');
    editor.type(slot('total'), '1 EUR');
    expect(editor.state.byField.get('number')).toBe(before);
  });

  test('a set that is only read does not change', () => {
    const editor = new Editor(FIELDS, [], true);
    editor.type(slot('number'), 'a');
    expect(editor.state.tags).toEqual([]);
  });
});
