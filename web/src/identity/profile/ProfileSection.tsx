import { SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyDone } from '@/kit/components/notify';
import { Section } from '@/kit/components/Section';
import { showSaved, useSaved } from '@/kit/forms/edited';
import { otherError, showAtField } from '@/kit/forms/fieldErrors';
import { FormActions } from '@/kit/forms/FormActions';
import { TimeZoneSelect } from '@/kit/forms/TimeZoneSelect';
import { Unsaved } from '@/kit/forms/unsaved';
import { readSession, updateSession } from '@/kit/session/store';

const FIELDS = ['name', 'locale', 'time_zone'] as const;

const toValues = ({ name, locale, time_zone }: Schemas['Profile']) => ({ name, locale, time_zone });

/** Name, and the language and time zone of emails and of days in statistics. */
export function ProfileSection({ profile }: { profile: Schemas['Profile'] }) {
  const { t } = useTranslation('identity/profile');
  const client = useQueryClient();
  const goOn = useSaved();
  const update = $api.useMutation('patch', '/api/v1/users/me');
  const form = useForm({ initialValues: toValues(profile) });
  const submit = form.onSubmit((changes) => {
    update.mutate(
      { body: { ...changes, revision: profile.revision } },
      {
        onSuccess: ({ data }) => {
          const user = readSession()?.user;
          if (user) updateSession({ user: { ...user, name: data.name } });
          showSaved(form, changes, toValues(data));
          goOn(data.revision);
          notifyDone(t('saved'));
          void client.invalidateQueries({ queryKey: ['get', '/api/v1/users/me'] });
        },
        onError: (error: unknown) => showAtField(form, error),
      },
    );
  });
  return (
    <Section title={t('profile.title')}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Unsaved isDirty={form.isDirty()} />
          <TextInput
            label={t('profile.name')}
            autoComplete="name"
            dir="auto"
            required
            {...form.getInputProps('name')}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <TextInput
              label={t('profile.locale')}
              description={t('profile.locale_hint')}
              required
              {...form.getInputProps('locale')}
            />
            <TimeZoneSelect
              label={t('profile.time_zone')}
              description={t('profile.time_zone_hint')}
              required
              {...form.getInputProps('time_zone')}
            />
          </SimpleGrid>
          <ErrorAlert error={otherError(update.error, FIELDS)} />
          <FormActions submit={t('save')} loading={update.isPending} />
        </Stack>
      </form>
    </Section>
  );
}
