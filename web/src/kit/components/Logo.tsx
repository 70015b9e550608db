/** The sign of the application, as in public/workbench/icon.svg. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect x="4" y="2" width="24" height="28" rx="4" fill="#1864ab" />
      <rect x="9" y="8" width="14" height="3" rx="1" fill="#fff" opacity=".55" />
      <rect x="9" y="14" width="10" height="4" rx="1" fill="#ffd43b" />
      <rect x="9" y="21" width="14" height="3" rx="1" fill="#fff" opacity=".55" />
    </svg>
  );
}
