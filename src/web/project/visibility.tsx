import { Icon } from '../parts/icon.tsx'

/** Who may see a project or group. */
export function VisibilityMark({ visibility }: { visibility: string | undefined }) {
  if (visibility === undefined || visibility === 'public') return null
  return (
    <span class="state">
      <Icon name={visibility === 'private' ? 'lock' : 'shield'} /> {visibility}
    </span>
  )
}
