export { useEnter } from './useEnter';
