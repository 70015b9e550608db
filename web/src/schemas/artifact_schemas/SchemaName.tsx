import { useSchemaName } from './lookup';

/** The name of a schema. */
export function SchemaName({ schemaId }: { schemaId: string }) {
  return <span dir="auto">{useSchemaName()(schemaId)}</span>;
}
