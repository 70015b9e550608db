/** All countries of ISO 3166 that the browser can name, in the order of the language. */
const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
// Codes that are names of unions or not assigned to a country.
const NOT_COUNTRIES = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ', 'AN', 'BU', 'CS', 'DD']);
const OLD = /^(FX|NT|SU|TP|YD|YU|ZR|UK|DY|HV|NH|RH|VD|CT|FQ|JT|MI|NQ|PC|PU|PZ|WK)$/;

export interface Country {
  value: string;
  label: string;
}

export function listCountries(language: string): Country[] {
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
  return LETTERS.flatMap((first) => LETTERS.map((second) => `${first}${second}`))
    .filter((code) => !NOT_COUNTRIES.has(code) && !OLD.test(code))
    .flatMap((value) => {
      const label = names.of(value);
      return label === undefined ? [] : [{ value, label }];
    })
    .sort((a, b) => a.label.localeCompare(b.label, language));
}
