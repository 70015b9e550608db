/** What review uses of labeling: the screen and the model of tags. */
export { Editor } from './model/editor';
export { useEditor, useEditorState } from './model/context';
export * from './model/tags';
export * from './model/values';
export { compareThree } from './model/merge';
export { pendingStore } from './model/pending';
export { readTagErrors } from './model/answers';
export { Stopwatch } from './model/stopwatch';
export { CommentBadge } from './parts/CommentBadge';
export { CommentsDrawer } from './parts/CommentsDrawer';
export { ConflictDialog } from './parts/ConflictDialog';
export { GuidelinesDrawer } from './parts/GuidelinesDrawer';
export { IconAction } from './LabelActions';
export { Progress } from './parts/Progress';
export { useComments, useMembers } from './parts/useComments';
export { useDocument } from './parts/useDocument';
export { Note, Workspace } from './parts/Workspace';
