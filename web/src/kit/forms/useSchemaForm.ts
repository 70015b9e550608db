import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  chosenOf,
  collectValues,
  type FieldValue,
  findProblems,
  initialValues,
  type Problem,
  readForm,
  visibleFields,
} from './schema';
import { useFieldTexts } from './useFieldTexts';

interface Start {
  settings?: Readonly<Record<string, unknown>>;
  /** Names of secrets that the service has. */
  stored?: readonly string[];
}

/** The state of a form from a JSON Schema. Mount a new one for another schema. */
export function useSchemaForm(schema: unknown, { settings = {}, stored = [] }: Start = {}) {
  const { t } = useTranslation('kit/forms');
  const form = useMemo(() => readForm(schema), [schema]);
  const texts = useFieldTexts();
  const [values, setValues] = useState(() => initialValues(form, settings));
  const [choice, setChoice] = useState(() => chosenOf(form, values, stored));
  const [isChecked, setChecked] = useState(false);
  const chosen = form.choice.includes(choice ?? '') ? choice : form.choice[0];
  const fields = visibleFields(form, chosen);
  const problems = findProblems(form, fields, values, stored);
  return {
    form,
    fields,
    values,
    stored,
    chosen,
    choose: setChoice,
    set: (name: string, value: FieldValue) => setValues((now) => ({ ...now, [name]: value })),
    problemText(name: string): string | undefined {
      const problem: Problem | undefined = isChecked ? problems[name] : undefined;
      const field = fields.find((one) => one.name === name);
      if (problem === undefined || field === undefined) return undefined;
      if (problem !== 'number') return t(`problems.${problem}`);
      const { minimum: min = 0, maximum: max = '∞' } = field;
      return t('problems.number', { min, max });
    },
    titleOf(name: string, context: string): string {
      const field = form.fields.find((one) => one.name === name);
      return field ? texts.title(field, context) : name;
    },
    /** Returns the settings to send, or undefined and shows the problems. */
    submit(): Record<string, unknown> | undefined {
      setChecked(true);
      return Object.keys(problems).length > 0 ? undefined : collectValues(fields, values);
    },
    /** Returns the settings as they are, for a preview. */
    current: () => collectValues(fields, values),
  };
}

export type SchemaForm = ReturnType<typeof useSchemaForm>;
