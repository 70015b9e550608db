export { useSchemaList, useSchemaName } from './lookup';
export { SchemaName } from './SchemaName';
export { SchemaSelect } from './SchemaSelect';
