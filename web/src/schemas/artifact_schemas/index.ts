export { useSchemaList } from './lookup';
export { SchemaSelect } from './SchemaSelect';
