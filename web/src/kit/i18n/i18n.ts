/**
 * The texts. A namespace is the folder that holds `texts.en.json` and `texts.de.json`, for example
 * `useTranslation('identity/sign_in')`; it is loaded when a component first uses it.
 */
import i18next, { type BackendModule } from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { Resources } from './resources';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'kit';
    resources: Resources;
  }
}

export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

const STORED = 'language';
const files = import.meta.glob<Record<string, unknown>>('../../**/texts.*.json', {
  import: 'default',
});

const backend: BackendModule = {
  type: 'backend',
  init: () => undefined,
  read(language, namespace, done) {
    const path =
      namespace === 'kit'
        ? '..'
        : namespace.startsWith('kit/')
          ? `../${namespace.slice(4)}`
          : `../../${namespace}`;
    const load = files[`${path}/texts.${language}.json`];
    if (!load) done(new Error(`No texts for ${namespace} in ${language}.`), false);
    else
      load().then(
        (texts) => done(null, texts),
        (error: unknown) => done(error as Error, false),
      );
  },
};

const isLanguage = (tag: string | undefined): tag is Language =>
  LANGUAGES.some((language) => language === tag);

/** Returns the first language of the list that the application has, or English. */
export function chooseLanguage(wanted: readonly string[]): Language {
  return wanted.map((tag) => tag.toLowerCase().split('-')[0]).find(isLanguage) ?? 'en';
}

export async function initTexts(): Promise<void> {
  // Links of emails name the language of the reader's profile.
  const linked = new URLSearchParams(window.location.search).get('lang');
  const wanted = [localStorage.getItem(STORED), linked, ...navigator.languages];
  const language = chooseLanguage(wanted.filter((tag) => tag !== null));
  await i18next
    .use(backend)
    .use(initReactI18next)
    .init({
      lng: language,
      fallbackLng: false,
      ns: ['kit'],
      defaultNS: 'kit',
      load: 'languageOnly',
      // React escapes what it shows.
      interpolation: { escapeValue: false },
    });
  document.documentElement.lang = language;
}

export async function changeLanguage(language: Language): Promise<void> {
  localStorage.setItem(STORED, language);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}
