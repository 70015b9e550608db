import type { ComponentProps } from 'react';
import { Panel } from '@/kit/components/Panel';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { Listing } from '@/kit/lists/Listing';

interface Props<Row> {
  title: string;
  description: string;
  /** What is said without anybody. */
  none: string;
  query: ComponentProps<typeof Listing<Row>>['query'];
  cursor: string | undefined;
  onCursor: (cursor: string | undefined) => void;
  columns: readonly Column<Row>[];
  minWidth: number;
}

/** Figures of people, one row for each. */
export function PeoplePanel<Row extends { id: string }>(props: Props<Row>) {
  const { title, description, none, query, cursor, onCursor, columns, minWidth } = props;
  return (
    <Panel title={title} description={description}>
      <Listing query={query} cursor={cursor} onCursor={onCursor} empty={{ title: none }}>
        {(rows) => (
          <DataTable
            label={title}
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            minWidth={minWidth}
          />
        )}
      </Listing>
    </Panel>
  );
}
