export { DownloadButton } from './DownloadButton';
export { ExportTabs } from './ExportTabs';
export { ExportProgress, StatusCell } from './ExportProgress';
export { FormatName } from './formats';
export { Preview } from './Preview';
export { RequestFields } from './RequestFields';
export { RequestFacts } from './RequestFacts';
export { type ExportRequest, readRequest, toBody, useExportRequest } from './request';
