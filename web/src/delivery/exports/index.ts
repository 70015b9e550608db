export { DownloadButton } from './DownloadButton';
export { ExportTabs } from './ExportTabs';
export { FormatName } from './formats';
export { Preview } from './Preview';
export { RequestFields } from './RequestFields';
export { RequestFacts } from './RequestFacts';
export { StatusCell } from './StatusCell';
export { type ExportRequest, readRequest, toBody, useExportRequest } from './request';
