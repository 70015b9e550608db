import { Mark } from '@mantine/core';
import { useMemo } from 'react';
import { cutAtHits, findHits, type Piece } from './highlight';

export function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  return (
    <>
      {pieces.map((piece, index) =>
        piece.marked ? <Mark key={index}>{piece.text}</Mark> : piece.text,
      )}
    </>
  );
}

/** A text with the words of a query highlighted. */
export function Marked({ text, phrases }: { text: string; phrases: readonly string[][] }) {
  const pieces = useMemo(() => cutAtHits(text, findHits(text, phrases)), [text, phrases]);
  return <Pieces pieces={pieces} />;
}
