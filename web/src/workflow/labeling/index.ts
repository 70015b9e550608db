/** What review uses of labeling: the screen and the model of tags. */
export { Alternatives } from './compare/Alternatives';
export { countDifferences, listAlternatives, type Source } from './compare/compare';
export { Editor } from './model/editor';
export { useEditor, useEditorState } from './model/context';
export * from './model/tags';
export * from './model/values';
export { compareThree } from './model/merge';
export { readOtherSide } from './model/otherSide';
export { pendingStore } from './model/pending';
export { readTagErrors } from './model/answers';
export { Stopwatch } from './model/stopwatch';
export { ConflictDialog } from './parts/ConflictDialog';
export { IconAction } from './LabelActions';
export { Progress } from './parts/Progress';
export { useMembers } from './parts/useComments';
export { useDocument } from './parts/useDocument';
export { useDrawers } from './parts/useDrawers';
export { Note, Workspace } from './parts/Workspace';
