import { Button, Menu } from '@mantine/core';
import { Languages } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { changeLanguage, LANGUAGES } from '@/kit/i18n/i18n';

// Each language in its own words: whoever looks for it may not read the current one.
const NAMES = { en: 'English', de: 'Deutsch' };

export function LanguageMenu() {
  const { t, i18n } = useTranslation();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<Languages size={16} />}
          aria-label={t('shell.language', { language: i18n.language.toUpperCase() })}
        >
          {i18n.language.toUpperCase()}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {LANGUAGES.map((language) => (
          <Menu.Item key={language} lang={language} onClick={() => void changeLanguage(language)}>
            {NAMES[language]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
