import { Button, Checkbox, Group, Paper, Select, SimpleGrid, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { AssigneeSelect } from '@/identity/pickers';
import { SearchInput } from '@/kit/lists/SearchInput';
import { useMay } from '@/kit/session/may';
import { OCR_STATES } from '../search';
import type { FiltersProps } from './Filters';

type Props = Omit<FiltersProps, 'clear'>;
type Day = 'created_from' | 'created_to' | 'due_from' | 'due_to';

function DayInput({ name, search, change }: Props & { name: Day }) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <TextInput
      type="date"
      label={t(`filters.${name}`)}
      value={search[name] ?? ''}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  );
}

const ASSIGNED = { any: undefined, yes: true, no: false } as const;

function AssignmentFilters({ search, change }: Props) {
  const { t } = useTranslation('documents/artifacts');
  const assigned = search.assigned === undefined ? 'any' : search.assigned ? 'yes' : 'no';
  return (
    <>
      <AssigneeSelect
        label={t('filters.assignee')}
        value={search.assignee}
        onChange={(assignee) => change({ assignee })}
      />
      <Select
        label={t('filters.assigned')}
        allowDeselect={false}
        data={[
          { value: 'any', label: t('filters.any') },
          { value: 'yes', label: t('filters.assigned_yes') },
          { value: 'no', label: t('filters.assigned_no') },
        ]}
        value={assigned}
        onChange={(value) => change({ assigned: ASSIGNED[value as keyof typeof ASSIGNED] })}
      />
      <Select
        label={t('filters.archived')}
        allowDeselect={false}
        data={[
          { value: 'false', label: t('filters.archived_no') },
          { value: 'true', label: t('filters.archived_only') },
          { value: 'any', label: t('filters.archived_any') },
        ]}
        value={search.archived ?? 'false'}
        onChange={(value) =>
          change({
            archived: value === 'true' || value === 'any' ? value : undefined,
          })
        }
      />
    </>
  );
}

function ContentFilters({ search, change }: Props) {
  const { t } = useTranslation('documents/artifacts');
  const states = OCR_STATES.map((value) => ({ value, label: t(`ocr.${value}`) }));
  return (
    <>
      <Select
        label={t('filters.ocr')}
        clearable
        data={states}
        value={search.ocr ?? null}
        onChange={(value) => change({ ocr: value ?? undefined })}
      />
      <SearchInput
        label={t('filters.media_type')}
        aria-label={t('filters.media_type')}
        placeholder="application/pdf"
        value={search.media_type}
        onChange={(media_type) => change({ media_type })}
      />
      <SearchInput
        label={t('filters.language')}
        aria-label={t('filters.language')}
        placeholder="de"
        value={search.language}
        onChange={(language) => change({ language })}
      />
    </>
  );
}

export function MoreFilters(props: Props) {
  const { t } = useTranslation('documents/artifacts');
  const may = useMay();
  const { search, change } = props;
  return (
    <Paper withBorder p="sm" role="group" aria-label={t('filters.more')}>
      <SimpleGrid cols={{ base: 1, xs: 2, sm: 3, lg: 5 }} spacing="sm" verticalSpacing="xs">
        <AssignmentFilters {...props} />
        <DayInput name="created_from" {...props} />
        <DayInput name="created_to" {...props} />
        <DayInput name="due_from" {...props} />
        <DayInput name="due_to" {...props} />
        <ContentFilters {...props} />
      </SimpleGrid>
      <Group mt="sm" gap="lg">
        {may('artifacts:assign') && (
          <Checkbox
            label={t('filters.gold')}
            checked={search.gold === true}
            onChange={(event) => change({ gold: event.currentTarget.checked || undefined })}
          />
        )}
        {search.parent !== undefined && (
          <Button size="compact-sm" variant="light" onClick={() => change({ parent: undefined })}>
            {t('filters.parent')}
          </Button>
        )}
      </Group>
    </Paper>
  );
}
