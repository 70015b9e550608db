import '@mantine/charts/styles.layer.css';
import { BarChart } from '@mantine/charts';
import { COLORS } from './colors';

export interface BarsProps {
  /** What the chart shows, in words. */
  label: string;
  bars: readonly { key: string; name: string }[];
  /** Each row has its name as `at`, and the value of each bar by its key. */
  rows: readonly Record<string, string | number | null>[];
  format: (value: number) => string;
  /** Rows stand below each other, for long names. */
  sideways?: boolean;
  stacked?: boolean;
  domain?: [number, number | 'auto'];
  height?: number;
}

const ROW_HEIGHT = 34;
const AXIS_HEIGHT = 70;

/** Bars. It is loaded on demand: import it with `LazyBars`. */
export function Bars(props: BarsProps) {
  const { label, bars, rows, format, sideways, stacked, domain = [0, 'auto'], height } = props;
  const own = sideways ? rows.length * ROW_HEIGHT + AXIS_HEIGHT : 240;
  return (
    <div role="img" aria-label={label}>
      <BarChart
        h={height ?? own}
        data={[...rows]}
        dataKey="at"
        type={stacked ? 'stacked' : 'default'}
        orientation={sideways ? 'vertical' : 'horizontal'}
        series={bars.map(({ key, name }, index) => ({
          name: key,
          label: name,
          color: COLORS[index % COLORS.length] ?? COLORS[0],
        }))}
        valueFormatter={format}
        withLegend={bars.length > 1}
        legendProps={{ position: 'bottom' }}
        tickLine="none"
        gridAxis={sideways ? 'x' : 'y'}
        yAxisProps={sideways ? { width: 120 } : { domain, width: 56 }}
        xAxisProps={sideways ? { domain } : { minTickGap: 24 }}
        barProps={{ isAnimationActive: false, maxBarSize: 28 }}
        barChartProps={{ accessibilityLayer: false }}
      />
    </div>
  );
}
