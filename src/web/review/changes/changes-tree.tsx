import { useShown } from '../../context.ts'
import { Items } from '../../parts/rows.tsx'
import type { ChangeSet } from './change-set.ts'
import { treeItems } from './tree-items.ts'

/** The changed files as a tree, with their lines, open threads and marks. */
export function ChangesTree({ set }: { set: ChangeSet }) {
  const viewed = set.files.filter((file) => file.viewed === 'yes').length
  return (
    <nav class="diff-tree" aria-label="Changed files">
      <p class="quiet">
        {viewed} of {set.files.length} viewed
      </p>
      <Items of={treeItems(useShown(), set)} />
    </nav>
  )
}
