export { addDays, fromPeriod, toPeriod, type DaySearch } from '@/kit/lists/days';
export { FieldSelect, useFields } from './FieldSelect';
export { listFields, type FieldOption } from './fields';
export { Notes } from './Notes';
export { PeriodNote } from './PeriodNote';
export { Rate, RateBar } from './Rate';
export { SchemaSelect } from './SchemaSelect';
