import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import { Page } from '@/kit/components/Page';
import { refreshRules } from '../useRules';
import { newDraft, toBody } from './draft';
import { RuleForm } from './RuleForm';

export function NewRulePage() {
  const { t } = useTranslation('workflow/routing_rules');
  const navigate = useNavigate();
  const [draft, setDraft] = useState(newDraft);
  const idempotency = useIdempotency();
  const create = $api.useMutation('post', '/api/v1/routing-rules');
  const submit = () => {
    const body = { ...toBody(draft), apply: draft.apply };
    create.mutate(
      { params: { header: idempotency.headers(body) }, body },
      {
        onSuccess: () => {
          void refreshRules();
          void navigate({ to: '/routing', ignoreBlocker: true });
        },
      },
    );
  };
  return (
    <Page title={t('new')}>
      <RuleForm
        draft={draft}
        change={(changes) => setDraft({ ...draft, ...changes })}
        submit={submit}
        isPending={create.isPending}
        error={create.error}
        readOnly={false}
      />
    </Page>
  );
}
