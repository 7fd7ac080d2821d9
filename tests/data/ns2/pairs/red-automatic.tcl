set ns [new Simulator]
set trace [open [lindex $argv 0] w]
$ns trace-all $trace
set n0 [$ns node]
set n1 [$ns node]
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ 1000
$ns simplex-link $n0 $n1 100Mb 5ms RED
$ns queue-limit $n0 $n1 300
$ns simplex-link $n1 $n0 100Mb 5ms DropTail
$ns queue-limit $n1 $n0 1000
set s0 [new Agent/TCP]
$s0 set window_ 200
set k0 [new Agent/TCPSink]
$s0 set fid_ 0
$ns attach-agent $n0 $s0
$ns attach-agent $n1 $k0
$ns connect $s0 $k0
set a0 [new Application/FTP]
$a0 attach-agent $s0
set s1 [new Agent/TCP/Reno]
$s1 set window_ 200
set k1 [new Agent/TCPSink]
$s1 set fid_ 1
$ns attach-agent $n0 $s1
$ns attach-agent $n1 $k1
$ns connect $s1 $k1
set a1 [new Application/FTP]
$a1 attach-agent $s1
set s2 [new Agent/TCP/Newreno]
$s2 set window_ 200
set k2 [new Agent/TCPSink]
$s2 set fid_ 2
$ns attach-agent $n0 $s2
$ns attach-agent $n1 $k2
$ns connect $s2 $k2
set a2 [new Application/FTP]
$a2 attach-agent $s2
set s3 [new Agent/TCP/Sack1]
$s3 set window_ 200
set k3 [new Agent/TCPSink/Sack1]
$s3 set fid_ 3
$ns attach-agent $n0 $s3
$ns attach-agent $n1 $k3
$ns connect $s3 $k3
set a3 [new Application/FTP]
$a3 attach-agent $s3
set s4 [new Agent/TCP]
$s4 set window_ 200
set k4 [new Agent/TCPSink]
$s4 set fid_ 4
$ns attach-agent $n0 $s4
$ns attach-agent $n1 $k4
$ns connect $s4 $k4
set a4 [new Application/FTP]
$a4 attach-agent $s4
set s5 [new Agent/TCP/Reno]
$s5 set window_ 200
set k5 [new Agent/TCPSink]
$s5 set fid_ 5
$ns attach-agent $n0 $s5
$ns attach-agent $n1 $k5
$ns connect $s5 $k5
set a5 [new Application/FTP]
$a5 attach-agent $s5
set s6 [new Agent/TCP/Newreno]
$s6 set window_ 200
set k6 [new Agent/TCPSink]
$s6 set fid_ 6
$ns attach-agent $n0 $s6
$ns attach-agent $n1 $k6
$ns connect $s6 $k6
set a6 [new Application/FTP]
$a6 attach-agent $s6
set s7 [new Agent/TCP/Sack1]
$s7 set window_ 200
set k7 [new Agent/TCPSink/Sack1]
$s7 set fid_ 7
$ns attach-agent $n0 $s7
$ns attach-agent $n1 $k7
$ns connect $s7 $k7
set a7 [new Application/FTP]
$a7 attach-agent $s7
$ns at 0.01 "$a0 start"
$ns at 0.023 "$a1 start"
$ns at 0.036 "$a2 start"
$ns at 0.049 "$a3 start"
$ns at 0.062 "$a4 start"
$ns at 0.075 "$a5 start"
$ns at 0.088 "$a6 start"
$ns at 0.10099999999999999 "$a7 start"
$ns at 1 "$ns flush-trace; close $trace; exit 0"
$ns run
