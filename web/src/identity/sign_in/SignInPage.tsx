import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { PublicFrame } from '@/kit/components/PublicFrame';
import { startSession } from '@/kit/session/store';
import { safeNext } from './next';

export function SignInPage() {
    const { t } = useTranslation('identity/sign_in');
    const router = useRouter();
    const { next } = useSearch({ from: '/public/sign-in' });
    const login = $api.useMutation('post', '/api/v1/auth/login');
    const form = useForm({ initialValues: { email: '', password: '' } });

    const submit = form.onSubmit((body) => {
        login.mutate(
            { body },
            {
                onSuccess: ({ data }) => {
                    queryClient.clear();
                    startSession(data);
                    const target = safeNext(next);
                    if (target === undefined) void router.navigate({ to: '/', replace: true });
                    else router.history.replace(target);
                },
            },
        );
    });
    return (
        <PublicFrame title={t('title')}>
            <form onSubmit={submit}>
                <Stack>
                    <TextInput
                        label={t('email')}
                        type="email"
                        autoComplete="username"
                        required
                        data-autofocus
                        {...form.getInputProps('email')}
                    />
                    <PasswordInput
                        label={t('password')}
                        autoComplete="current-password"
                        required
                        {...form.getInputProps('password')}
                    />
                    <ErrorAlert error={login.error} />
                    <Button type="submit" loading={login.isPending} fullWidth>
                        {t('submit')}
                    </Button>
                </Stack>
            </form>
        </PublicFrame>
    );
}
