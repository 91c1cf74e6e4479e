export function LineNumber({ number }: { number: number }) {
  return (
    <a class="line-number" href={`#L${number}`} data-number={number}>
      <span class="visually-hidden" title={`Line ${number}`} />
    </a>
  )
}
