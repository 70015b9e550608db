import { Loader } from '@mantine/core';
import { lazy, Suspense } from 'react';
import classes from './markdown.module.css';

const ReactMarkdown = lazy(() => import('react-markdown'));
/** Pictures of others would tell them who reads. */
const FORBIDDEN = ['img'];

/** Markdown of users as elements, without HTML and pictures. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className={classes.markdown} dir="auto">
      <Suspense fallback={<Loader size="xs" type="dots" />}>
        <ReactMarkdown disallowedElements={FORBIDDEN} unwrapDisallowed skipHtml>
          {text}
        </ReactMarkdown>
      </Suspense>
    </div>
  );
}
