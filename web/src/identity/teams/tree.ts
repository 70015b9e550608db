import type { Schemas } from '@/kit/api/types';

export type Node = Schemas['OrgChartTeam'];

const has = (text: string, wanted: string) => text.toLocaleLowerCase().includes(wanted);

function matches(node: Node, wanted: string): boolean {
  return (
    has(node.name, wanted) ||
    node.skills.some((skill) => has(skill, wanted)) ||
    node.members.some(({ user }) => has(user.name, wanted) || has(user.email, wanted)) ||
    (node.lead !== null && has(node.lead.name, wanted))
  );
}

/** Returns the teams that match, with the teams above them; all below a match stay. */
export function filterTree(nodes: readonly Node[], text: string | undefined): Node[] {
  const wanted = text?.trim().toLocaleLowerCase() ?? '';
  if (wanted === '') return [...nodes];
  return nodes.flatMap((node) => {
    const children = filterTree(node.children, wanted);
    if (matches(node, wanted)) return [children.length > 0 ? { ...node, children } : node];
    return children.length > 0 ? [{ ...node, children }] : [];
  });
}

/** Returns the ids of a team and of all teams below it: none of them can be its parent. */
export function idsBelow(nodes: readonly Node[], teamId: string): string[] {
  const collect = (node: Node): string[] => [node.id, ...node.children.flatMap(collect)];
  return nodes.flatMap((node) =>
    node.id === teamId ? collect(node) : idsBelow(node.children, teamId),
  );
}
