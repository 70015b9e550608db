import { Box } from '@mantine/core';
import classes from './HeatTable.module.css';

interface Cell {
  /** From 0 (pale) to 1 (full colour). */
  share: number;
  text: string;
  /** On the diagonal, where equal values meet. */
  good?: boolean;
}

interface Props {
  label: string;
  rowsTitle: string;
  columnsTitle: string;
  rows: readonly string[];
  columns: readonly string[];
  cell: (row: number, column: number) => Cell | undefined;
}

const STRONG = 55;

/** A matrix whose cells have the deeper colour the larger they are. It is a table for everybody. */
export function HeatTable({ label, rowsTitle, columnsTitle, rows, columns, cell }: Props) {
  return (
    // What scrolls has to be reachable by keyboard.
    <Box className={classes['scroll']} tabIndex={0} role="region" aria-label={label}>
      <table className={classes['table']}>
        <thead>
          <tr>
            <th scope="col">{`${rowsTitle} ↓ ${columnsTitle} →`}</th>
            {columns.map((name, index) => (
              <th key={index} scope="col">
                <bdi>{name}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((name, row) => (
            <tr key={row}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              {columns.map((_, column) => (
                <HeatCell key={column} cell={cell(row, column)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Box>
  );
}

function HeatCell({ cell }: { cell: Cell | undefined }) {
  if (!cell) return <td className={classes['empty']}>–</td>;
  const strength = Math.round(Math.min(Math.max(cell.share, 0), 1) * STRONG);
  const color = cell.good ? 'teal' : 'blue';
  const base = `light-dark(var(--mantine-color-${color}-4), var(--mantine-color-${color}-7))`;
  return (
    <td style={{ background: `color-mix(in srgb, ${base} ${strength}%, transparent)` }}>
      {cell.text}
    </td>
  );
}
