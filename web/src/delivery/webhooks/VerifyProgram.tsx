import { SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeBlock } from '@/kit/components/CodeBlock';
import { programOf, type ProgramLanguage } from './snippets';

const LANGUAGES = [
  { value: 'python', label: 'Python' },
  { value: 'javascript', label: 'JavaScript' },
] as const satisfies { value: ProgramLanguage; label: string }[];

/** The program that a receiver copies to verify signatures. */
export function VerifyProgram() {
  const { t } = useTranslation('delivery/webhooks');
  const [language, setLanguage] = useState<ProgramLanguage>('python');
  return (
    <Stack gap="xs">
      <Text size="sm">{t('verify.text')}</Text>
      <SegmentedControl
        size="xs"
        aria-label={t('verify.language')}
        data={[...LANGUAGES]}
        value={language}
        onChange={setLanguage}
        style={{ alignSelf: 'flex-start' }}
      />
      <CodeBlock label={t('verify.title')} code={programOf(language)} maxHeight={260} />
    </Stack>
  );
}
