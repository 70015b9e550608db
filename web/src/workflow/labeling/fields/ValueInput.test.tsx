import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { EditorContext } from '../model/context';
import { Editor } from '../model/editor';
import type { Field, FieldType } from '../model/tags';
import { ValueInput } from './ValueInput';

test.each<FieldType>(['text', 'span', 'boolean', 'choice', 'date'])(
  'screen readers say that a field of the type %s is required',
  (type) => {
    const render = (required: boolean) => {
      const field = { key: 'a', type, required, columns: [], options: [] } as unknown as Field;
      return renderToString(
        <EditorContext value={new Editor([field], [])}>
          <ValueInput
            slot={{ field: 'a', row: null, index: 0 }}
            tag={undefined}
            definition={field}
            label="A"
          />
        </EditorContext>,
      );
    };
    expect(render(true)).toContain('aria-required="true"');
    expect(render(false)).not.toContain('aria-required="true"');
  },
);
