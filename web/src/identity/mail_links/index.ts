export { findTarget } from './targets';
