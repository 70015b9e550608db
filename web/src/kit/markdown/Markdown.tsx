import { Loader } from '@mantine/core';
import { type ComponentProps, lazy, Suspense } from 'react';
import classes from './markdown.module.css';

const ReactMarkdown = lazy(() => import('react-markdown'));
/** Pictures of others would tell them who reads. */
const FORBIDDEN = ['img'];

/** A link, which leaves the page with its unsaved work open, and does not tell others where it stood. */
function Link({ href, children }: ComponentProps<'a'>) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

const COMPONENTS = { a: Link };

/** Markdown of users as elements, without HTML and pictures. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className={classes.markdown} dir="auto">
      <Suspense fallback={<Loader size="xs" type="dots" />}>
        <ReactMarkdown
          components={COMPONENTS}
          disallowedElements={FORBIDDEN}
          unwrapDisallowed
          skipHtml
        >
          {text}
        </ReactMarkdown>
      </Suspense>
    </div>
  );
}
