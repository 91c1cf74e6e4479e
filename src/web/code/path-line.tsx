import { CopyButton } from '../parts/basics.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import type { ProjectData } from '../project/frame.tsx'
import { type Place, placeAddress } from './place.ts'

/** Where a page of code is: the ref, and each folder on the way as a link. */
export function PathLine({ project, place }: { project: ProjectData; place: Place }) {
  const parts = place.path === '' ? [] : place.path.split('/')
  const up = (count: number) => ({ ref: place.ref, path: parts.slice(0, count).join('/') })
  return (
    <nav class="path-line row" aria-label="Path">
      <A
        class="ref"
        href={placeAddress(project, 'tree', up(0))}
        title="Files of this branch, tag or commit"
      >
        <Icon name="git-branch" /> {place.ref}
      </A>
      <span class="mono">
        <A href={placeAddress(project, 'tree', up(0))}>{project.path}</A>
        {parts.map((part, index) => (
          <>
            <span class="quiet"> / </span>
            {index === parts.length - 1 ? (
              <strong>{part}</strong>
            ) : (
              <A href={placeAddress(project, 'tree', up(index + 1))}>{part}</A>
            )}
          </>
        ))}
      </span>
      {place.path !== '' && <CopyButton text={place.path} label="Copy the path" />}
    </nav>
  )
}
