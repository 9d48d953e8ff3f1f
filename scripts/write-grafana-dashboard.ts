// Writes the Grafana dashboard of the chart, with Grafana's own SDK: npm run generate

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  BigValueGraphMode,
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
  StackingMode,
} from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeSeriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { type Panel, rows, stats } from './grafana-panels.ts';

export const DASHBOARD_FILE = path.join(import.meta.dirname, '../charts/edgeset/files/grafana-dashboard.json');

const datasource = { type: 'prometheus', uid: '${datasource}' };

const targetsOf = ({ queries }: Panel): DataqueryBuilder[] =>
  queries.map(([legendFormat, expr], index) =>
    new DataqueryBuilder()
      .refId(String.fromCodePoint(65 + index))
      .expr(expr)
      .legendFormat(legendFormat),
  );

/** What both kinds of panel have in common. */
const describe = <P extends StatBuilder | TimeSeriesBuilder>(builder: P, panel: Panel): P => {
  builder
    .title(panel.title)
    .datasource(datasource)
    .unit(panel.unit ?? 'short')
    .targets(targetsOf(panel));
  if (panel.description !== undefined) builder.description(panel.description);
  return builder;
};

const stat = (panel: (typeof stats)[number]): StatBuilder => {
  const steps = [
    { value: null, color: 'green' },
    ...(panel.warning ? [{ value: panel.warning, color: 'orange' }] : []),
  ];
  return describe(new StatBuilder(), panel)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps))
    .span(4)
    .height(4);
};

const timeSeries = (panel: Panel): TimeSeriesBuilder => {
  const builder = describe(new TimeSeriesBuilder(), panel).span(12).height(8).axisSoftMin(0);
  if (!panel.stacked) return builder;
  return builder.stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A')).fillOpacity(40);
};

const variable = (name: string, label: string, query: string): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .label(label)
    .datasource(datasource)
    .query(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    // oxlint-disable-next-line unicorn/no-array-sort -- it is no array
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ text: 'All', value: '$__all' });

export const renderDashboard = (): string => {
  // oxlint-disable-next-line typescript/no-deprecated -- version 2 can be imported only by the newest Grafana
  const dashboard = new DashboardBuilder('edgeset')
    .uid('edgeset')
    .description('Rollouts of DaemonSets by edgeset, and the managers that run them.')
    .tags(['kubernetes', 'daemonset', 'edgeset'])
    .time({ from: 'now-6h', to: 'now' })
    .refresh('1m')
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(variable('namespace', 'Namespace', 'label_values(edgeset_nodes, namespace)'))
    .withVariable(variable('daemonset', 'DaemonSet', 'label_values(edgeset_nodes{namespace=~"$namespace"}, daemonset)'))
    .withVariable(variable('job', 'Manager', 'label_values(edgeset_build_info, job)'));
  let id = 0;
  const nextId = (): number => {
    id += 1;
    return id;
  };
  for (const panel of stats) dashboard.withPanel(stat(panel).id(nextId()));
  for (const [title, panels] of Object.entries(rows)) {
    dashboard.withRow(new RowBuilder(title).id(nextId()));
    for (const panel of panels) dashboard.withPanel(timeSeries(panel).id(nextId()));
  }
  return `${JSON.stringify(dashboard.build(), null, 2)}\n`;
};

if (import.meta.main) writeFileSync(DASHBOARD_FILE, renderDashboard());
