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

/** Returns whether another version needs a new form: not the one that this form has just saved. */
export function needsNewForm<Row extends Versioned>(held: Row, next: Row, saved?: number): boolean {
  return held.id !== next.id || (held.revision !== next.revision && next.revision !== saved);
}

interface Props<Row> {
  latest: Row;
  children: (record: Row) => ReactNode;
}

/**
 * The form of a record that may be read again meanwhile. A newer version begins a new form, unless this form
 * has saved it, or there are changes (`Unsaved`): they stay, with the version that they began with, so that
 * the service refuses to overwrite what others have changed. `ErrorAlert` then asks whose changes stay.
 */
export function EditedRecord<Row extends Versioned>({ latest, children }: Props<Row>) {
  const around = useContext(AroundForm);
  const [isDirty, setDirty] = useState(false);
  const [held, setHeld] = useState(latest);
  const [kept, setKept] = useState<number>();
  const [saved, setSaved] = useState<number>();
  const [form, setForm] = useState(0);
  const record = chooseVersion(held, latest, isDirty);
  if (record !== held) {
    if (needsNewForm(held, record, saved)) {
      setForm(form + 1);
      setSaved(undefined);
    }
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
    const goOn = (next: number) => {
      setKept(next);
      setSaved(next);
    };
    return { revision, keep: setKept, goOn, drop };
  }, [revision]);
  return (
    <AroundForm value={report}>
      <EditedContext value={edited}>
        <Fragment key={form}>
          {children(kept === undefined ? record : { ...record, revision })}
        </Fragment>
      </EditedContext>
    </AroundForm>
  );
}
