export { KINDS as NOTIFICATION_KINDS } from './kinds';
