// The parts of ECharts that are used, and nothing else of it.

import { CustomChart, LineChart } from "echarts/charts";
import {
  AxisPointerComponent,
  DataZoomInsideComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  ToolboxComponent,
  TooltipComponent,
} from "echarts/components";
import { connect, init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([
  AxisPointerComponent,
  CustomChart,
  DataZoomInsideComponent,
  GridComponent,
  LegendComponent,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  SVGRenderer,
  ToolboxComponent,
  TooltipComponent,
]);

export { connect, init };
export type { ECharts } from "echarts/core";
export type { EChartsOption as Option, LineSeriesOption, CustomSeriesOption } from "echarts";
