import { Fragment, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { refreshRecords } from '@/kit/api/queryClient';
import { EditedContext } from './edited';
import { AroundForm } from './unsaved';

interface Versioned {
  id?: string;
  revision: number;
}

/** Returns the version that a form goes on with: that of its changes, as long as it has some. */
export function chooseVersion<Row extends Versioned>(held: Row, latest: Row, dirty: boolean): Row {
  return dirty && held.id === latest.id ? held : latest;
}

interface Props<Row> {
  latest: Row;
  children: (record: Row) => ReactNode;
}

/**
 * The form of a record that may be read again meanwhile. A newer version begins a new form, unless there
 * are changes (`Unsaved`): they stay, with the version that they began with, so that the service refuses
 * to overwrite what others have changed. `ErrorAlert` then asks whose changes stay.
 */
export function EditedRecord<Row extends Versioned>({ latest, children }: Props<Row>) {
  const around = useContext(AroundForm);
  const [isDirty, setDirty] = useState(false);
  const [held, setHeld] = useState(latest);
  const [kept, setKept] = useState<number>();
  const record = chooseVersion(held, latest, isDirty);
  if (record !== held) {
    setHeld(record);
    setKept(undefined);
  }
  const report = useCallback(
    (next: boolean) => {
      setDirty(next);
      around(next);
    },
    [around],
  );
  const revision = kept ?? record.revision;
  const edited = useMemo(() => {
    const drop = () => void refreshRecords().then(() => setDirty(false));
    return { revision, keep: setKept, drop };
  }, [revision]);
  return (
    <AroundForm value={report}>
      <EditedContext value={edited}>
        <Fragment key={`${record.id ?? ''}/${record.revision}`}>
          {children(kept === undefined ? record : { ...record, revision })}
        </Fragment>
      </EditedContext>
    </AroundForm>
  );
}
