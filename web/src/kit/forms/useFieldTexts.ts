import { useTranslation } from 'react-i18next';
import type { Field } from './schema';

type Known = 'titles.host';

/** Titles and descriptions in the language of the page; what is not known is as the schema says. */
export function useFieldTexts() {
  const { t, i18n } = useTranslation('kit/forms');
  const first = (keys: readonly string[]): string | undefined => {
    for (const key of keys) {
      const isKnown: boolean = i18n.exists(key, { ns: 'kit/forms' });
      if (isKnown) return t(key as Known);
    }
    return undefined;
  };
  const titles = (name: string, context: string) => [`titles.${context}_${name}`, `titles.${name}`];
  const descriptions = (name: string, context: string) => [
    `descriptions.${context}_${name}`,
    `descriptions.${name}`,
  ];
  return {
    title: (field: Field, context: string): string =>
      first(titles(field.name, context)) ?? field.title ?? field.name,
    description: (field: Field, context: string): string | undefined =>
      first(descriptions(field.name, context)) ?? field.description,
  };
}
