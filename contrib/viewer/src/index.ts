/* @sonde/viewer as a library: recordings decoded, documents checked, timelines drawn. */
export { Damage } from "./decode/damage";
export { instantsOf, type Header, type Instant } from "./decode/recording";
export { Table, type Column, type Slot, type Value } from "./decode/table";
export { DocumentError, parseTimeline, type Lane, type Process, type Series, type Timeline } from "./timeline/document";
export { load, said, type Loaded } from "./timeline/load";
export { timelineOf } from "./timeline/recorded";
export { rowsOf, search, type Row } from "./timeline/rows";
export { DARK, draw, headOf, LIGHT, rowAt, sceneOf, timeAt, xOf, type Scene, type Theme, type View } from "./timeline/scene";
export { CanvasSurface, SvgSurface, type Surface } from "./timeline/surface";
