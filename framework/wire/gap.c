/* What a reader did not get, as a row of the table `gap`. */
#include "wire/gap.h"

bool gap_view(struct sonde_frame *records, const struct gap *gap, struct sonde_view *view)
{
	struct sonde_view views[RECORD_TABLES];
	struct sonde_row row;

	frame_begin(records);
	if (records_row(records, RECORD_GAP, &row))
		return false;
	records_str(records, &row, GAP_INSTANCE, "");
	records_str(records, &row, GAP_REASON, gap->reason);
	records_str(records, &row, GAP_TEXT, gap->text);
	if (gap->begin)
		sonde_set_u64(&row, GAP_BEGIN, gap->begin);
	sonde_set_u64(&row, GAP_END, gap->end);
	if (gap->lost)
		sonde_set_u64(&row, GAP_LOST, gap->lost);
	frame_views(records, views);
	*view = views[RECORD_GAP];
	view->instance = "";
	return true;
}
