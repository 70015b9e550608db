import { Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { MemberSelect, TeamSelect } from '@/identity/pickers';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyDone } from '@/kit/components/notify';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { fieldErrors, otherError } from '@/kit/forms/fieldErrors';
import { FormActions } from '@/kit/forms/FormActions';
import { Unsaved } from '@/kit/forms/unsaved';
import { idsBelow } from './tree';

const FIELDS = ['name', 'description', 'parent_id', 'lead_id', 'skills'] as const;

interface Props {
  /** The team to change; without one, a team is created. */
  team?: Schemas['Team'];
  parentId?: string | undefined;
  onClose: () => void;
}

interface Values {
  name: string;
  description: string;
  parent_id: string | undefined;
  lead_id: string | undefined;
  skills: string[];
}

/** Creates a team, or saves the changes of one. */
function useSave(team: Props['team'], onClose: () => void) {
  const { t } = useTranslation('identity/teams');
  const router = useRouter();
  const idempotency = useIdempotency();
  const create = $api.useMutation('post', '/api/v1/teams');
  const update = $api.useMutation('patch', '/api/v1/teams/{team_id}');
  const finish = (message: string) => {
    void queryClient.invalidateQueries();
    notifyDone(message);
    onClose();
  };
  const save = (values: Values, onError: (error: unknown) => void) => {
    const body = {
      ...values,
      parent_id: values.parent_id ?? null,
      lead_id: values.lead_id ?? null,
    };
    if (team) {
      update.mutate(
        {
          params: { path: { team_id: team.id } },
          body: { ...body, revision: team.revision },
        },
        { onSuccess: () => finish(t('form.saved', { name: values.name })), onError },
      );
      return;
    }
    create.mutate(
      { params: { header: idempotency.headers(body) }, body },
      {
        onSuccess: ({ data }) => {
          finish(t('form.created', { name: values.name }));
          void router.navigate({
            to: '/teams/$teamId',
            params: { teamId: data.id },
            ignoreBlocker: true,
          });
        },
        onError,
      },
    );
  };
  return {
    save,
    error: create.error ?? update.error,
    isPending: create.isPending || update.isPending,
  };
}

function initialValues(team: Props['team'], parentId: string | undefined): Values {
  return {
    name: team?.name ?? '',
    description: team?.description ?? '',
    parent_id: team ? (team.parent_id ?? undefined) : parentId,
    lead_id: team?.lead_id ?? undefined,
    skills: team?.skills ?? [],
  };
}

interface PositionProps {
  team: Props['team'];
  form: UseFormReturnType<Values>;
}

/** What the team stands below, and who leads it. */
function Position({ team, form }: PositionProps) {
  const { t } = useTranslation('identity/teams');
  const chart = $api.useQuery('get', '/api/v1/teams/org-chart');
  const lead = team?.members.find(({ user }) => user.id === team.lead_id)?.user;
  const { values, errors } = form;
  return (
    <>
      <TeamSelect
        label={t('form.parent')}
        description={t('form.parent_text')}
        exclude={team ? idsBelow(chart.data?.data.teams ?? [], team.id) : []}
        value={values.parent_id}
        onChange={(id) => form.setFieldValue('parent_id', id)}
        error={errors['parent_id']}
      />
      <MemberSelect
        label={t('form.lead')}
        value={values.lead_id}
        chosenName={lead && `${lead.name} · ${lead.email}`}
        onChange={(id) => form.setFieldValue('lead_id', id)}
        error={errors['lead_id']}
      />
    </>
  );
}

export function TeamDialog({ team, parentId, onClose }: Props) {
  const { t } = useTranslation('identity/teams');
  return (
    <Dialog
      title={team ? t('form.edit_title', { name: team.name }) : t('form.create_title')}
      onClose={onClose}
    >
      {team ? (
        <EditedRecord latest={team}>
          {(record) => <TeamForm team={record} onClose={onClose} />}
        </EditedRecord>
      ) : (
        <TeamForm parentId={parentId} onClose={onClose} />
      )}
    </Dialog>
  );
}

function TeamForm({ team, parentId, onClose }: Props) {
  const { t } = useTranslation('identity/teams');
  const form = useForm<Values>({ initialValues: initialValues(team, parentId) });
  const { save, error, isPending } = useSave(team, onClose);
  return (
    <form
      onSubmit={form.onSubmit((all) =>
        save(all, (failure) => form.setErrors(fieldErrors(failure, FIELDS))),
      )}
    >
      <Stack>
        <Unsaved isDirty={form.isDirty()} />
        <TextInput
          label={t('form.name')}
          required
          maxLength={200}
          dir="auto"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Textarea
          label={t('form.description')}
          maxLength={2000}
          autosize
          minRows={2}
          dir="auto"
          {...form.getInputProps('description')}
        />
        <Position team={team} form={form} />
        <TagsInput
          label={t('form.skills')}
          description={t('form.skills_text')}
          maxTags={50}
          acceptValueOnBlur
          {...form.getInputProps('skills')}
        />
        <ErrorAlert error={otherError(error, FIELDS)} />
        <FormActions
          submit={team ? t('form.save') : t('form.create')}
          loading={isPending}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
