import { withQuery } from '../address.ts'
import { useShown } from '../context.ts'
import { sizeText } from '../parts/basics.tsx'
import { NumberedLines } from '../parts/highlighted.tsx'
import { A, addressIn } from '../parts/link.tsx'
import { Markdown } from '../parts/markdown.tsx'
import type { ProjectData } from '../project/frame.tsx'
import type { Table } from './formats/csv.ts'
import { type Place, placeAddress } from './place.ts'
import type { ShownBlob, ShownCell } from './read-blob.ts'

interface ContentsProps {
  readonly project: ProjectData
  readonly place: Place
  readonly shown: ShownBlob
}

/** What is in a file, in the way that suits it. */
export function BlobContents({ project, place, shown }: ContentsProps) {
  const raw = placeAddress(project, 'raw', place)
  switch (shown.kind) {
    case 'code':
      return <NumberedLines lines={shown.lines} html={shown.html} />
    case 'markdown':
      return (
        <div class="box-body">
          <Markdown html={shown.html} />
        </div>
      )
    case 'table':
      return <TableOf table={shown.table} />
    case 'notebook':
      return <Notebook cells={shown.cells} />
    case 'image':
      return <ImageOf src={raw} name={place.path} />
    case 'lfs':
      return (
        <div class="blank">
          <p>This file is kept by Git LFS; the repository holds a pointer to it.</p>
          <p class="mono">sha256:{shown.oid}</p>
          <p>
            <A class="button" href={withQuery(raw, { inline: 'false' })} download="">
              Download it ({sizeText(shown.size)})
            </A>
          </p>
        </div>
      )
    default:
      return (
        <p class="blank">
          {shown.kind === 'large'
            ? 'This file is too large to be shown.'
            : 'This file is not text.'}{' '}
          <A href={withQuery(raw, { inline: 'false' })}>Download it</A>
        </p>
      )
  }
}

function ImageOf({ src, name }: { src: string; name: string }) {
  const shown = useShown()
  return (
    <p class="blank">
      <img class="picture" src={addressIn(shown, src)} alt={name.split('/').at(-1) ?? ''} />
    </p>
  )
}

function TableOf({ table: { rows, isCut } }: { table: Table }) {
  const [head = [], ...body] = rows
  return (
    <section class="table-scroll" aria-label="Table">
      <table class="values">
        <thead>
          <tr>
            {head.map((value, index) => (
              <th key={index} scope="col">
                {value}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((row, index) => (
            <tr key={index}>
              {row.map((value, column) => (
                <td key={column}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && <p class="box-body quiet">There is more of this table in its source.</p>}
    </section>
  )
}

function Notebook({ cells }: { cells: readonly ShownCell[] }) {
  return (
    <div class="box-body stack">
      {cells.map((cell, index) => (
        <div class="cell stack" key={index}>
          {cell.html === undefined ? (
            <pre class={cell.kind === 'code' ? 'message' : ''}>{cell.text}</pre>
          ) : (
            <Markdown html={cell.html} />
          )}
          {cell.outputs.map(({ text, png }, at) => (
            <>
              {png !== undefined && (
                <img key={at} src={`data:image/png;base64,${png}`} alt={`Output ${at + 1}`} />
              )}
              {png === undefined && text !== '' && <pre class="output">{text}</pre>}
            </>
          ))}
        </div>
      ))}
    </div>
  )
}
