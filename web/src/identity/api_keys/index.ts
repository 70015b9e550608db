export { IntegrationTabs } from './IntegrationTabs';
