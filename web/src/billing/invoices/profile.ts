import type { Schemas } from '@/kit/api/types';

type Profile = Schemas['BillingProfile'];

export interface ProfileValues {
  name: string;
  lines: string;
  postal_code: string;
  city: string;
  country: string;
  tax_number: string;
  email: string;
  currency: string;
  time_zone: string;
  language: Profile['language'];
}

export function toValues(profile: Profile): ProfileValues {
  const { address } = profile;
  return {
    name: profile.name ?? '',
    lines: address?.lines.join('\n') ?? '',
    postal_code: address?.postal_code ?? '',
    city: address?.city ?? '',
    country: address?.country ?? '',
    tax_number: profile.tax_number ?? '',
    email: profile.email ?? '',
    currency: profile.currency,
    time_zone: profile.time_zone,
    language: profile.language,
  };
}

const orNull = (text: string) => (text.trim() === '' ? null : text.trim());

export function toBody(values: ProfileValues, revision: number): Schemas['SetBillingProfile'] {
  return {
    name: values.name,
    address: {
      lines: values.lines
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
      postal_code: orNull(values.postal_code),
      city: values.city,
      country: values.country,
    },
    tax_number: orNull(values.tax_number),
    email: values.email,
    currency: values.currency.trim().toUpperCase(),
    time_zone: values.time_zone,
    language: values.language,
    revision,
  };
}

/** Returns the member of the form for a field of the API: `address.city` is `city`. */
export function toFormField(field: string): string {
  const parts = field.split(/[.[]/);
  return (parts[0] === 'address' ? parts[1] : parts[0]) ?? field;
}
