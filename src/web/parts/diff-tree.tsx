import { changeOf, type DiffLayout } from './diff.tsx'
import { type DiffFile, fileId } from './diff-lines.ts'
import { Icon } from './icon.tsx'
import { A } from './link.tsx'

/** The two layouts of a diff as links; the current one is marked. */
export function LayoutLinks({
  layout,
  address,
}: {
  layout: DiffLayout
  address: (layout: DiffLayout) => string
}) {
  return (
    <nav class="row" aria-label="Layout of the diff">
      {(['unified', 'split'] as const).map((one) => (
        <A
          key={one}
          class="button"
          href={address(one)}
          {...(one === layout ? { 'aria-current': 'true' } : {})}
        >
          <Icon name={one === 'split' ? 'columns' : 'rows'} />{' '}
          {one === 'split' ? 'Side by side' : 'Unified'}
        </A>
      ))}
    </nav>
  )
}

/** The changed files as a list of links to their places on the page. */
export function DiffTree({ files }: { files: readonly DiffFile[] }) {
  const folders = new Map<string, DiffFile[]>()
  for (const file of files) {
    const folder = file.new_path.split('/').slice(0, -1).join('/')
    folders.set(folder, [...(folders.get(folder) ?? []), file])
  }
  return (
    <nav class="diff-tree" aria-label="Changed files">
      {[...folders]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([folder, those]) => (
          <section key={folder}>
            {folder !== '' && <h3 class="mono quiet">{folder}/</h3>}
            <ul>
              {those.map((file) => (
                <li key={file.new_path}>
                  <A href={`#${fileId(file)}`} title={file.new_path}>
                    <Icon name={changeOf(file)[0]} label={changeOf(file)[1]} />{' '}
                    {file.new_path.split('/').at(-1)}
                  </A>
                </li>
              ))}
            </ul>
          </section>
        ))}
    </nav>
  )
}
