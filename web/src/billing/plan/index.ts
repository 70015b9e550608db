export { BillingPage } from './BillingPage';
export { writeAmount } from './meters';
