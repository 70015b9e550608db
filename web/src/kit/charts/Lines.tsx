import '@mantine/charts/styles.layer.css';
import { LineChart } from '@mantine/charts';
import { lineStyle } from './colors';

export interface Line {
  key: string;
  name: string;
}

export interface LinesProps {
  /** What the chart shows, in words. */
  label: string;
  lines: readonly Line[];
  /** Each row has the place on the horizontal axis as `at`, and the value of each line by its key. */
  rows: readonly Record<string, string | number | null>[];
  format: (value: number) => string;
  height?: number;
  /** Bounds of the vertical axis, such as 0 and 1 for rates. */
  domain?: [number, number | 'auto'];
  /** Lines that help to read the chart. */
  helpers?: readonly string[];
}

/** Lines over time. It is loaded on demand: import it with `LazyLines`. */
export function Lines(props: LinesProps) {
  const { label, lines, rows, format, height = 260, domain = [0, 'auto'], helpers = [] } = props;
  return (
    <div role="img" aria-label={label}>
      <LineChart
        h={height}
        data={[...rows]}
        dataKey="at"
        series={lines.map(({ key, name }, index) =>
          helpers.includes(key)
            ? { name: key, label: name, color: 'gray.6', strokeDasharray: '3 3' }
            : { name: key, label: name, ...lineStyle(index) },
        )}
        valueFormatter={format}
        withLegend={lines.length > 1}
        legendProps={{ position: 'bottom' }}
        curveType="linear"
        connectNulls={false}
        tickLine="none"
        gridAxis="y"
        yAxisProps={{ domain, width: 56 }}
        xAxisProps={{ minTickGap: 24 }}
        dotProps={{ r: 3 }}
        lineProps={{ isAnimationActive: false }}
        lineChartProps={{ accessibilityLayer: false }}
      />
    </div>
  );
}
