import { LayoutLinks } from '../../parts/diff-tree.tsx'
import { Form } from '../../parts/form.tsx'
import { A } from '../../parts/link.tsx'
import { type ChangeSet, changesAddress } from './change-set.ts'

/** How the changes are shown, which versions of them, and the keys to walk through them. */
export function ChangesBar({ set, only }: { set: ChangeSet; only: string | undefined }) {
  const { w } = set.query
  const file = only
  return (
    <div class="row">
      <LayoutLinks layout={set.layout} address={(view) => changesAddress(set, { view, file })} />
      <A
        class="button"
        href={changesAddress(set, { w: w ? undefined : 'true', file })}
        data-hotkey="w"
        {...(w ? { 'aria-current': 'true' } : {})}
      >
        {w ? 'Show white space' : 'Hide white space'}
      </A>
      <Keys />
      <Versions set={set} />
      {only !== undefined && <A href={changesAddress(set)}>All files</A>}
    </div>
  )
}

const keys = [
  ['j', 'next', '.diff-file', 'Next file'],
  ['k', 'previous', '.diff-file', 'Previous file'],
  ['n', 'next', '[data-thread=open]', 'Next open thread'],
  ['p', 'previous', '[data-thread=open]', 'Previous open thread'],
] as const

const acts = [
  ['c', '[data-key=comment]', 'Comment on this file'],
  ['v', '[action$="/viewed"] button', 'Mark this file as viewed'],
  ['e', 'summary', 'Fold or unfold this file'],
] as const

/** Buttons that only work with script: they are shown by it. */
function Keys() {
  return (
    <span class="row keys-bar" data-script hidden>
      {keys.map(([key, move, among, label]) => (
        <button
          key={key}
          type="button"
          class="button quiet"
          data-hotkey={key}
          data-move={move}
          data-among={among}
          aria-label={label}
          title={label}
        >
          {key}
        </button>
      ))}
      {acts.map(([key, press, label]) => (
        <button
          key={key}
          type="button"
          class="button quiet"
          data-hotkey={key}
          data-press={press}
          data-among=".diff-file"
          aria-label={label}
          title={label}
        >
          {key}
        </button>
      ))}
    </span>
  )
}

/** Which version is shown, and since which. */
function Versions({ set }: { set: ChangeSet }) {
  const { versions, version, query, address } = set
  if (versions.length < 2) return null
  const number = (index: number) => versions.length - index
  return (
    <>
      <Form action={`${address}/diffs`} method="get" class="row">
        {query.w && <input type="hidden" name="w" value="true" />}
        <label>
          Version{' '}
          <select name="version" aria-label="Version">
            {versions.map(({ id, head_commit_sha }, index) => (
              <option key={id} value={id} selected={id === version?.id}>
                {number(index)} · {head_commit_sha.slice(0, 8)}
              </option>
            ))}
          </select>
        </label>
        <label>
          since{' '}
          <select name="since" aria-label="Since">
            <option value="">its base</option>
            {versions.map(({ id, head_commit_sha }, index) => (
              <option key={id} value={id} selected={id === query.since}>
                {number(index)} · {head_commit_sha.slice(0, 8)}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="button">
          Compare
        </button>
      </Form>
      {query.since !== undefined && version && (
        <A class="button" href={`${address}/range_diff?from=${query.since}&to=${version.id}`}>
          Commit by commit
        </A>
      )}
    </>
  )
}
