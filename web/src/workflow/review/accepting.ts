import type { Schemas } from '@/kit/api/types';
import type { Editor, LocalTag } from '@/workflow/labeling';
import type { Keeper } from './keeper';

type Corrected = Pick<Keeper, 'revision' | 'list' | 'corrections'>;

/** What the service refused, and the tags that it counts in its errors. */
export interface Refusal {
  readonly failure: unknown;
  readonly sent: readonly LocalTag[];
}

/**
 * Accepts the tag set as it is shown, once. A correction during the request would not be part of it, and
 * would be lost: nothing can be edited until it is refused.
 */
export async function acceptOnce(
  editor: Editor,
  keeper: Corrected,
  send: (body: Schemas['AcceptTagSet']) => Promise<unknown>,
): Promise<'accepted' | 'running' | Refusal> {
  if (editor.state.locked) return 'running';
  editor.setLocked(true);
  editor.setProblems(new Map());
  const sent = keeper.list();
  const tags = keeper.corrections();
  try {
    await send({ revision: keeper.revision, ...(tags ? { tags } : {}) });
  } catch (failure) {
    editor.setLocked(false);
    return { failure, sent };
  }
  return 'accepted';
}
