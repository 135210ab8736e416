/** How the page of the lifecycle looks, wide and narrow, light and dark. */
export const STYLES = `
      :root {
        --paper: #fff; --card: #f6f7f9; --ink: #1f2937; --faint: #5b6472; --line: #d5dae2; --box: #fff; --edge: #8b95a5;
        --mark: #c2410c; --owner: #c2410c; --awardee: #1d4ed8; --parties: #7e22ce; --admin: #0f766e;
        color-scheme: light;
      }
      @media (prefers-color-scheme: dark) {
        :root {
          --paper: #171d29; --card: #202838; --ink: #dfe4ec; --faint: #a3adbd; --line: #3a4559; --box: #252f42;
          --edge: #74819a; --mark: #fb923c; --owner: #fb923c; --awardee: #7fb0ff; --parties: #cf9bff; --admin: #4fd1c0;
          color-scheme: dark;
        }
      }
      * { box-sizing: border-box; }
      [hidden] { display: none !important; }
      body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
      header {
        display: flex; flex-wrap: wrap; gap: 4px 24px; align-items: baseline; max-width: 1180px; margin: 0 auto;
        padding: 16px 24px 0;
      }
      h1 { font-size: 22px; margin: 0; }
      h2 { font-size: 18px; margin: 24px 0 8px; }
      nav { display: flex; gap: 16px; }
      a { color: var(--mark); }
      main {
        display: grid; grid-template-columns: minmax(0, 450px) minmax(0, 1fr); gap: 0 48px; max-width: 1180px;
        margin: 0 auto; padding: 12px 24px 48px;
      }
      figure { grid-column: 1; grid-row: 1; margin: 0; }
      .side { grid-column: 2; grid-row: 1; position: sticky; top: 12px; align-self: start; }
      .text { grid-column: 1 / -1; }

      svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
      svg text { font: 12px system-ui, sans-serif; text-anchor: middle; fill: var(--ink); }
      svg .party { font-size: 10.5px; fill: var(--by); }
      svg a { cursor: pointer; outline: none; }
      .by-owner { --by: var(--owner); }
      .by-awardee { --by: var(--awardee); }
      .by-parties { --by: var(--parties); }
      .by-admin { --by: var(--admin); }
      .line { fill: none; stroke: var(--by); stroke-width: 1.5; stroke-linejoin: round; }
      .reach { fill: none; stroke: transparent; stroke-width: 14; }
      .head path { fill: var(--by); }
      .plate { fill: var(--paper); stroke: none; }
      .state rect { fill: var(--box); stroke: var(--edge); stroke-width: 1.3; }
      .state.end rect { stroke-width: 3; }
      .mark { fill: none; stroke: var(--edge); stroke-width: 1.3; }
      .mark.start { fill: var(--edge); }
      .mark text { stroke: none; fill: var(--faint); }
      .anywhere rect { stroke-dasharray: 4 3; }
      .move:hover .line, .move:focus .line, .move.shown .line { stroke-width: 3; }
      .move:focus-visible .plate, .move.shown .plate { stroke: var(--by); stroke-width: 1.5; }
      .state:hover rect, .state:focus rect, .state.shown rect { stroke: var(--mark); stroke-width: 2.5; }
      .state.here rect { fill: var(--mark); stroke: var(--mark); }
      .state.here text { fill: var(--paper); font-weight: 700; }
      .located .move:not(.may):not(:hover):not(:focus):not(.shown) text { opacity: 0.6; }
      .located .move:not(:hover):not(:focus):not(.shown) .line:not(.open) { opacity: 0.4; }
      .located .move .line.open { stroke-width: 3; }
      .located .move.may .name { font-weight: 700; }
      figcaption { display: grid; gap: 2px; margin-top: 12px; font-size: 13px; color: var(--faint); }
      .key { display: flex; align-items: center; gap: 8px; }
      .key i { flex: none; width: 22px; border-top: 3px solid var(--by); }

      #words, #yours {
        background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px;
      }
      #words { min-height: 190px; margin-bottom: 16px; }
      #words h2 { margin: 0 0 4px; }
      #words h2::first-letter, th[scope='row']::first-letter, dt::first-letter { text-transform: uppercase; }
      #words dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; margin: 8px 0 0; }
      #words dt, .text td::before { color: var(--faint); font-weight: 400; }
      #words dd { margin: 0; }
      #words button { display: none; }
      .hint { color: var(--faint); margin: 4px 0; }
      summary { cursor: pointer; font-weight: 600; }
      form { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; margin: 10px 0; }
      form .hint { flex-basis: 100%; }
      label { display: inline-flex; flex-wrap: wrap; gap: 2px 8px; align-items: center; }
      form label { display: grid; flex: 1 1 150px; min-width: 0; font-size: 13px; color: var(--faint); }
      input, select, button {
        font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--edge); border-radius: 6px;
        padding: 5px 10px; min-width: 0; max-width: 100%;
      }
      form :is(input, select, button) { min-height: 34px; }
      button { cursor: pointer; }
      form button { border-color: var(--mark); color: var(--mark); }
      :is(input, select, button, summary, :not(svg) > a):focus-visible {
        outline: 2px solid var(--mark); outline-offset: 1px;
      }
      #where h3 { font-size: 15px; margin: 12px 0 2px; }
      #where details { margin-top: 12px; }
      #where ul { margin: 0; padding-left: 20px; }
      #problem:empty { display: none; }
      #problem { color: var(--mark); margin: 8px 0 0; }

      table { border-collapse: collapse; width: 100%; font-size: 14px; }
      th, td { text-align: left; vertical-align: top; padding: 7px 12px 7px 0; border-bottom: 1px solid var(--line); }
      thead th { color: var(--faint); font-weight: 500; }
      tr:target, dt:target { background: var(--card); }
      .text dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0; }
      .text dt { font-weight: 600; }
      .text dd { margin: 0; }
      dd .ways { color: var(--faint); }

      @media (max-width: 860px) {
        header { padding: 12px 16px 0; }
        main { grid-template-columns: minmax(0, 1fr); padding: 12px 0 32px; }
        figure, .side { grid-column: 1; grid-row: auto; }
        .side { position: static; padding: 0 16px; margin-bottom: 12px; }
        .text, figcaption { padding: 0 16px; }
        #words { display: none; }
        #words.shown {
          display: block; position: fixed; inset: auto 0 0; z-index: 1; min-height: 0; max-height: 50vh; margin: 0;
          overflow: auto; border-radius: 10px 10px 0 0; box-shadow: 0 -4px 16px rgb(0 0 0 / 25%);
        }
        #words button { display: block; float: right; }
        table, tbody, tr, th[scope='row'], td { display: block; }
        thead { position: absolute; left: -9999px; }
        tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
        th, td { border: 0; padding: 1px 0; }
        td { display: grid; grid-template-columns: 8.5em 1fr; }
        td::before { content: attr(data-head); }
        .text dl { grid-template-columns: 1fr; gap: 0; }
        .text dd { margin-bottom: 6px; }
      }
    `;
